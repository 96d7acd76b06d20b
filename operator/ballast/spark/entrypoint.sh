#!/bin/sh
# Starts the part of Spark that its Kubernetes scheduler asks for: driver ARGUMENT…, or executor.
set -eu
part=$1
shift
case "$part" in
driver)
	exec "$SPARK_HOME/bin/spark-submit" \
		--conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" \
		--conf "spark.executorEnv.SPARK_DRIVER_POD_IP=$SPARK_DRIVER_BIND_ADDRESS" \
		--deploy-mode client "$@"
	;;
executor)
	# Options are numbered from 0; each is one argument, whatever is in it.
	set --
	number=0
	while eval "[ -n \"\${SPARK_JAVA_OPT_$number+set}\" ]"; do
		eval "set -- \"\$@\" \"\$SPARK_JAVA_OPT_$number\""
		number=$((number + 1))
	done
	exec "$JAVA_HOME/bin/java" "$@" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
		-cp "${SPARK_CONF_DIR:+$SPARK_CONF_DIR:}${SPARK_CLASSPATH:-}:$SPARK_HOME/jars/*" \
		org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
		--driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" \
		--cores "$SPARK_EXECUTOR_CORES" --app-id "$SPARK_APPLICATION_ID" \
		--hostname "$SPARK_EXECUTOR_POD_IP" --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \
		--podName "$SPARK_EXECUTOR_POD_NAME"
	;;
*)
	exec "$part" "$@"
	;;
esac
