# The decision server in a container; docs/operations.md says how it is run.
FROM debian:12-slim AS build
WORKDIR /src
# First what changes seldom: the layer of compiler and libraries is kept between builds.
COPY scripts/bootstrap scripts/bootstrap
RUN scripts/bootstrap --build
COPY . .
RUN make build install BOOTSTRAP=true PREFIX=/usr DESTDIR=/image \
  && strip /image/usr/bin/layard

FROM debian:12-slim
# The libraries of "Needed at run time" in README.md, and certificates for `layard download`.
RUN apt-get update \
  && apt-get install -y --no-install-recommends libcurl4 libsimdjson14 libssl3 libutf8proc2 \
    libspdlog1.10 libprometheus-cpp-core1.0 libyaml-cpp0.7 zlib1g libzstd1 ca-certificates \
  && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --home-dir /nonexistent --no-create-home \
    --shell /usr/sbin/nologin layard \
  && install -d -o layard -g layard -m 0700 /var/cache/layard
COPY --from=build /image/usr/bin/layard /usr/bin/layard
COPY --from=build /image/usr/share/layard/models /usr/share/layard/models
COPY --from=build /image/usr/share/doc/layard /usr/share/doc/layard

# Every address, since a published port comes in from outside; so a key is needed: without
# LAYARD_API_KEY (or LAYARD_SERVE_API_KEY_FILE) the server ends at once and says so.
ENV LAYARD_CACHE=/var/cache/layard \
    HF_HUB_CACHE=/var/cache/layard/hub \
    LAYARD_SERVE_HOST=0.0.0.0 \
    LAYARD_SERVE_ALLOW_REMOTE=1 \
    LAYARD_SERVE_LOG_FORMAT=json
VOLUME ["/var/cache/layard"]
EXPOSE 8642
USER 10001:10001
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/layard"]
CMD ["serve", "--log-level", "info"]
