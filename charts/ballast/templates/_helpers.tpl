{{- define "ballast.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "ballast.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "ballast.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "ballast.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "ballast.operator" -}}
{{ include "ballast.fullname" . }}-operator
{{- end }}

{{- /* Broker sets name it, so it follows the release's name alone. */ -}}
{{- define "ballast.zookeeper" -}}
{{ .Release.Name }}-zookeeper
{{- end }}

{{- define "ballast.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "ballast.operator" .) .Values.serviceAccount.name }}
{{- else -}}
{{ required "serviceAccount.name is needed when serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* Takes a dict of root, component. */ -}}
{{- define "ballast.selector" -}}
app.kubernetes.io/name: {{ include "ballast.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "ballast.labels" -}}
{{ include "ballast.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Takes a dict of repository, tag, digest. */ -}}
{{- define "ballast.imageName" -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag }}
{{- end }}
{{- end }}

{{- define "ballast.image" -}}
{{ include "ballast.imageName" (dict "repository" .Values.image.repository "tag" (default .Chart.AppVersion .Values.image.tag) "digest" .Values.image.digest) }}
{{- end }}

{{- /*
The image that is asked for, else the one that ZooKeeper runs, so that an upgrade of the operator does
not restart it, else that of this release. "template" changes when the pod template needs a new image.
*/ -}}
{{- define "ballast.zookeeperImage" -}}
{{- $own := .Values.zookeeper.image -}}
{{- $running := "" -}}
{{- if not (or $own.repository $own.tag $own.digest) -}}
{{- $before := lookup "apps/v1" "StatefulSet" .Release.Namespace (include "ballast.zookeeper" .) | default dict -}}
{{- $annotations := dig "spec" "template" "metadata" "annotations" dict $before -}}
{{- if eq (toString (index (default dict $annotations) "ballast.dev/zookeeper-template")) (include "ballast.zookeeperTemplate" .) -}}
{{- $running = (first $before.spec.template.spec.containers).image -}}
{{- end -}}
{{- end -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{- default (include "ballast.imageName" (dict "repository" (default (printf "%s-spark" .Values.image.repository) $own.repository) "tag" (default $tag $own.tag) "digest" $own.digest)) $running -}}
{{- end }}

{{- /* The version of what ZooKeeper's pod template asks of its image. */ -}}
{{- define "ballast.zookeeperTemplate" -}}
1
{{- end }}

{{- define "ballast.sparkImage" -}}
{{- $own := .Values.spark.image -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{ include "ballast.imageName" (dict "repository" (default (printf "%s-spark" .Values.image.repository) $own.repository) "tag" (default $tag $own.tag) "digest" $own.digest) }}
{{- end }}

{{- define "ballast.watchesAll" -}}
{{- if has "*" .Values.watchNamespaces }}true{{ end }}
{{- end }}

{{- /* The namespaces that are watched, as a JSON list. */ -}}
{{- define "ballast.namespaces" -}}
{{- default (list .Release.Namespace) .Values.watchNamespaces | uniq | toJson }}
{{- end }}

{{- define "ballast.podSecurity" -}}
{{ toYaml .Values.podSecurityContext }}
{{- end }}

{{- /* What brokers' pods have whose BrokerSet does not say otherwise, as JSON. */ -}}
{{- define "ballast.brokerPods" -}}
{{- $secrets := list -}}
{{- range .Values.imagePullSecrets }}{{ $secrets = append $secrets .name }}{{ end -}}
{{ dict "imagePullPolicy" .Values.image.pullPolicy "imagePullSecrets" $secrets "securityContext" .Values.podSecurityContext | toJson }}
{{- end }}

{{- define "ballast.containerSecurity" -}}
{{ toYaml .Values.containerSecurityContext }}
{{- end }}

{{- /* Where pods go; takes the values of one component. */ -}}
{{- define "ballast.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .schedulerName }}
schedulerName: {{ . }}
{{- end }}
{{- with .runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}

{{- /* Kept on uninstall, by Helm and by Argo CD: brokers need it, and it holds their metadata. */ -}}
{{- define "ballast.kept" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Delete=false,Prune=false
{{- end }}
