# The Prometheus of docker-compose.yml (profile metrics), which scrapes every service and knows the alerts.
ARG BASE=prom/prometheus:v3.5.0
FROM ${BASE}
USER root
RUN mkdir -p /prometheus && chown 65534:65534 /prometheus
COPY prometheus/prometheus.yml prometheus/alerts.yml /etc/prometheus/
# As a checkout may have been made under any umask.
RUN chmod 0644 /etc/prometheus/prometheus.yml /etc/prometheus/alerts.yml
USER 65534:65534
EXPOSE 9090
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 CMD wget -q -O /dev/null http://127.0.0.1:9090/-/ready
ENTRYPOINT ["prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus", "--storage.tsdb.retention.time=15d"]
