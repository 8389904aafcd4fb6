# A Redis that forgets, for integration tests inside a private network.
ARG BASE=redis:7-alpine
FROM ${BASE}
WORKDIR /tmp
USER 65534:65534
EXPOSE 6379
ENTRYPOINT []
CMD ["redis-server", "--protected-mode", "no", "--save", "", "--appendonly", "no", "--bind", "0.0.0.0"]
