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
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, update, patch, delete]
- apiGroups: [""]
  resources: [services, serviceaccounts]
  verbs: [list, watch, create, patch]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [list, watch, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch, delete]
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [list, watch, create, patch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [list, watch, create, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- if .Values.spark.enabled }}
- apiGroups: [sparkoperator.k8s.io]
  resources: [sparkapplications]
  verbs: [get, list, create, delete]
{{- end }}
{{- end }}

{{- define "ballast.uninstallRules" -}}
- apiGroups: [ballast.dev]
  resources: [brokersets, partitionreassignments]
  verbs: [get, list, patch]
{{- end }}

{{- /* Takes a dict of hook, weight. */ -}}
{{- define "ballast.uninstallHook" -}}
helm.sh/hook: {{ .hook }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
