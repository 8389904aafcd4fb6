# The Redis of docker-compose.yml. It asks for the password that SUZUMIO_REDIS_PASSWORD says.
ARG BASE=redis:7-alpine
FROM ${BASE}
RUN mkdir -p /data && chown 999:1000 /data
COPY redis.conf redis-start.sh /etc/suzumio/
# As a checkout may have been made under any umask.
RUN chmod 0755 /etc/suzumio && chmod 0644 /etc/suzumio/*
WORKDIR /data
USER 999:1000
EXPOSE 6379
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 \
    CMD REDISCLI_AUTH="$SUZUMIO_REDIS_PASSWORD" redis-cli ping | grep -q PONG
ENTRYPOINT []
CMD ["sh", "/etc/suzumio/redis-start.sh"]
