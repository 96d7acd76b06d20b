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

{{- define "ballast.zookeeperImage" -}}
{{- $own := .Values.zookeeper.image -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{ include "ballast.imageName" (dict "repository" (default (printf "%s-spark" .Values.image.repository) $own.repository) "tag" (default $tag $own.tag) "digest" $own.digest) }}
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
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "ballast.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
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
{{- end }}
