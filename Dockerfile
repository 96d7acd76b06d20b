# Targets: "ballast" is the operator and the broker; "ballast-spark" adds Java and PySpark, for plans
# of large clusters and for the chart's ZooKeeper, whose jars PySpark brings.
#
#   docker build --target ballast -t ballast:dev .
#   docker build --target ballast-spark -t ballast-spark:dev .
#
# Everything installed is pinned by hash in requirements/. The images have no compiler and no pip:
# only earlier stages do.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
ARG JAVA_IMAGE=eclipse-temurin:17-jre
# `make images` sets both, for the images' labels.
ARG VERSION=0.1.0
ARG REVISION=unknown

FROM ${PYTHON_IMAGE} AS tools
WORKDIR /source
COPY requirements/build.txt requirements/
RUN python -m venv /tools \
    && /tools/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/build.txt
# The environment that the images run; pip stays outside of it.
RUN python -m venv --without-pip /opt/ballast

FROM tools AS packages
COPY requirements/operator.txt requirements/
RUN /tools/bin/pip --python /opt/ballast/bin/python install --no-cache-dir --require-hashes \
    --only-binary :all: -r requirements/operator.txt

FROM packages AS spark-packages
COPY requirements/spark.txt requirements/
# pyspark is published as source: its setup copies files, with the setuptools of the stage "tools".
# Only what every process of a job imports is compiled; pandas would take 30 MB more.
RUN PYTHONPATH=$(/tools/bin/python -c 'import site; print(site.getsitepackages()[0])') \
    /tools/bin/pip --python /opt/ballast/bin/python install --no-cache-dir --require-hashes \
    --no-build-isolation --no-compile -r requirements/spark.txt \
    && cd /opt/ballast/lib/python3.11/site-packages && /opt/ballast/bin/python -m compileall -q pyspark py4j pyarrow

# Spark's Kafka source, with which plan jobs read the history of load.
FROM ${PYTHON_IMAGE} AS spark-jars
RUN apt-get update && apt-get install -y --no-install-recommends maven && rm -rf /var/lib/apt/lists/*
# Java has its own list of certificate authorities; this imports the system's, which a build may extend.
RUN csplit -sz -f /tmp/trusted- /etc/ssl/certs/ca-certificates.crt '/-----BEGIN/' '{*}' \
    && for file in /tmp/trusted-*; do echo "+$file"; done \
    | java -jar /usr/share/ca-certificates-java/ca-certificates-java.jar -storepass changeit
COPY requirements/spark-jars.txt requirements/
RUN set -e; grep -v '^#' requirements/spark-jars.txt | while read -r artifact digest; do \
    mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory=/jars </dev/null; \
    echo "$digest  /jars/$(echo "$artifact" | cut -d: -f2,3 | tr : -).jar" | sha256sum --check; \
    done

FROM tools AS program
COPY pyproject.toml README.md LICENSE ./
COPY operator operator
RUN /tools/bin/pip wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheels . \
    && /tools/bin/pip --python /opt/ballast/bin/python install --no-deps --no-index \
    --prefix /program /wheels/*.whl

FROM ${JAVA_IMAGE} AS java
# Links are followed, so that the folder is complete; some lead to manuals that do not exist.
RUN mkdir /java && { cp -rL "$JAVA_HOME"/. /java 2>/dev/null || true; } && /java/bin/java -version

# The base without what installs and builds, and without caches.
FROM ${PYTHON_IMAGE} AS root
RUN python -m pip uninstall --yes --quiet pip setuptools wheel \
    && groupadd --gid 10001 ballast \
    && useradd --uid 10001 --gid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin ballast \
    && rm -rf /usr/share/python-wheels /usr/lib/python3*/ensurepip /usr/local/lib/python3*/ensurepip \
    /usr/local/lib/python3*/idlelib /usr/local/lib/python3*/test /usr/local/src/* \
    /var/cache/* /var/lib/apt/lists/* /var/log/* /root/.cache

# One layer, so that removed files take no space.
FROM scratch AS base
COPY --from=root / /
ENV PATH=/opt/ballast/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /tmp
ENTRYPOINT ["ballast"]

FROM base AS ballast
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="ballast" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.description="Operator and Kafka-protocol broker" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=packages /opt/ballast /opt/ballast
COPY --from=program /program /opt/ballast

FROM base AS ballast-spark
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="ballast-spark" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.description="Ballast with PySpark, and ZooKeeper's jars" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=java /java /opt/java
COPY --from=spark-packages /opt/ballast /opt/ballast
COPY --from=spark-jars /jars/ /opt/ballast/lib/python3.11/site-packages/pyspark/jars/
COPY --from=program /program /opt/ballast
# What a SparkApplication runs: its main file, and what starts a driver or an executor.
COPY operator/ballast/spark/__main__.py /opt/ballast/plan_job.py
COPY --chmod=0755 operator/ballast/spark/entrypoint.sh /opt/ballast/spark-entrypoint
ENV JAVA_HOME=/opt/java SPARK_HOME=/opt/ballast/lib/python3.11/site-packages/pyspark \
    PYSPARK_PYTHON=/opt/ballast/bin/python
ENV PATH=/opt/java/bin:$SPARK_HOME/bin:$PATH
