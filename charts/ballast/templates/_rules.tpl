{{- /* What the operator may do in a namespace that it watches. tests/e2e/test_rbac.py has the list too. */ -}}
{{- define "ballast.rules" -}}
- apiGroups: [ballast.dev]
  resources: [brokersets]
  verbs: [get, list, watch, patch]
- apiGroups: [ballast.dev]
  resources: [partitionreassignments]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [ballast.dev]
  resources: [brokersets/status, partitionreassignments/status]
  verbs: [patch]
# Owner references with blockOwnerDeletion.
- apiGroups: [ballast.dev]
  resources: [brokersets/finalizers, partitionreassignments/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, update, patch, delete]
- apiGroups: [""]
  resources: [services, serviceaccounts]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "ballast.uninstallRules" -}}
- apiGroups: [ballast.dev]
  resources: [brokersets, partitionreassignments]
  verbs: [get, list, patch]
{{- end }}

{{- /* Takes the weight. */ -}}
{{- define "ballast.uninstallHook" -}}
helm.sh/hook: post-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
