# A shell and no Node: what a worker must refuse.
ARG BASE=busybox:1.37
FROM ${BASE}
USER 1000:1000
CMD ["sh"]
