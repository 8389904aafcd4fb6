# Node and a shell, for the tests' own runners and hostile containers.
ARG BASE=node:24-slim
FROM ${BASE}
USER 1000:1000
ENTRYPOINT []
CMD ["node"]
