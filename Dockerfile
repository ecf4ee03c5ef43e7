# Two stages over the same base: the first installs into /opt/harvest by `make install`, the second has that and
# no compiler, no make and no pip cache.
FROM python:3.11-slim-bookworm AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends make \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make install PREFIX=/opt/harvest

FROM python:3.11-slim-bookworm
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libarchive13 \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --create-home --home-dir /data harvest \
 && install --directory --owner=harvest /scratch
COPY --from=build /opt/harvest /opt/harvest
COPY --chown=harvest config /etc/harvest
ENV PATH=/opt/harvest/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HARVEST_CONFIG=/etc/harvest/harvest.yaml \
    HARVEST_BIND=0.0.0.0:8080 \
    HARVEST_DATA_DIR=/data/var \
    HARVEST_EXPORTS_DIR=/data/exports \
    HARVEST_WRITE_BACK=false
USER harvest
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["harvest"]
CMD ["serve"]
