# The reference server: the API and the admin page on PostgreSQL or SQLite, or a follower with FLAGS_UPSTREAM. See docs/container.md.
# The release workflow adds the digest of the base image: BASE=node:24.11.1-bookworm-slim@sha256:…
ARG BASE=node:24.11.1-bookworm-slim

FROM ${BASE} AS build
WORKDIR /source
COPY . .
RUN node deploy/build.mjs /app

FROM ${BASE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4242
WORKDIR /app
COPY --from=build /app /app
RUN mkdir /data && chown 1000:1000 /data
USER 1000:1000
EXPOSE 4242
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
