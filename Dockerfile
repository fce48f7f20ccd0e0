# The service in an image that holds one static binary and nothing else: no shell, no libraries, no package manager.
#
#   docker build --tag phileas .
#
# compose.yaml shows how it is run. The base image is named by its tag; a release adds its digest.
FROM rust:1.95-slim-bookworm AS builder
WORKDIR /src
COPY . .
# The optimised build of a release; `release` is built in half the time.
ARG PROFILE=dist
# What is downloaded and compiled stays on the building machine, and in no layer.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/src/target,sharing=locked \
    PROFILE=${PROFILE} scripts/static /out/phileas
# A new volume takes owner and mode from the folder that it covers.
RUN install -d -m 0700 -o 65532 -g 65532 /out/data

# Certificates of authorities and time zones are compiled in.
FROM scratch
COPY --from=builder /out/phileas /phileas
COPY --from=builder --chown=65532:65532 /out/data /var/lib/phileas
# In a container loopback is the container's own. On all addresses the service asks for an admin token, or does not start.
ENV PHILEAS_DATA_DIR=/var/lib/phileas \
    PHILEAS_LISTEN=0.0.0.0:8080 \
    PHILEAS_ADMIN_LISTEN=0.0.0.0:9090
# By its number, so that an orchestrator sees that it is not root.
USER 65532:65532
# The only folder that can be written to: phileas.toml is looked for here, and SQLite falls back to it for temporary files.
WORKDIR /var/lib/phileas
VOLUME ["/var/lib/phileas"]
EXPOSE 8080 9090
# Running ticks then stop between two effects, within 25 seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=15s --retries=3 CMD ["/phileas", "service", "health"]
ENTRYPOINT ["/phileas"]
CMD ["serve"]

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="phileas" \
      org.opencontainers.image.description="Runs Google's Jules on GitHub repositories on a schedule, with its ledger in git" \
      org.opencontainers.image.source="https://github.com/phileas/phileas" \
      org.opencontainers.image.documentation="https://github.com/phileas/phileas#running-the-service" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
