import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../../examples/server/src/config.js';

const ROOT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Replaces `${NAME:?…}` and `${NAME:-…}` as Compose does. Throws without a value that must be set. */
function interpolated(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, rule: string, rest: string) => {
    const value = values[name] ?? (rule === '-' ? rest : undefined);
    if (value === undefined) throw new Error(rest);
    return value;
  });
}

describe('the Dockerfile', () => {
  const text = read('Dockerfile');

  it('has one base image with an exact version, which all stages use', () => {
    expect(text.match(/^ARG .*$/gm)).toEqual([
      expect.stringMatching(/^ARG BASE=node:\d+\.\d+\.\d+-[a-z-]+(@sha256:[\da-f]{64})?$/),
    ]);
    expect(text.match(/^FROM (\S+)/gm)).toEqual(Array(2).fill(`FROM \${BASE}`));
  });

  it('runs the shared build, without root, with a health check on /live', () => {
    expect(text).toContain('RUN node deploy/build.mjs /app');
    const last = text.split(/^FROM /m).at(-1) ?? '';
    expect(last).toMatch(/^USER 1000:1000$/m);
    expect(last.indexOf('USER')).toBeGreaterThan(last.lastIndexOf('RUN'));
    expect(last).toMatch(/HEALTHCHECK[\s\S]*\/live/);
    expect(last).toContain('CMD ["node", "dist/main.js"]');
  });
});

describe('deploy/compose.yaml', () => {
  const text = read('deploy/compose.yaml');
  const given = { POSTGRES_PASSWORD: 'a', FLAGS_ADMIN_TOKEN: 'b'.repeat(43), FLAGS_UPSTREAM_TOKEN: 'c' };
  const { services } = parse(interpolated(text, given), { merge: true });
  const ours = ['server', 'follower-1', 'follower-2'];

  it('has a server on PostgreSQL and two followers, which the reference server accepts', () => {
    expect(Object.keys(services)).toEqual(['postgres', ...ours]);
    expect(readConfig(services.server.environment).source).toMatchObject({
      database: 'postgres://flags:a@postgres/flags',
    });
    for (const name of ours.slice(1)) {
      expect(readConfig(services[name].environment).source).toEqual({
        upstream: 'http://server:4242',
        token: 'c',
        cache: '/data/flags-cache.json',
      });
      expect(services[name].volumes).toEqual([expect.stringMatching(/:\/data$/)]);
    }
  });

  it('has no default for a secret', () => {
    for (const name of ['POSTGRES_PASSWORD', 'FLAGS_ADMIN_TOKEN']) {
      expect(() => interpolated(text, { ...given, [name]: undefined as unknown as string })).toThrow(`set ${name}`);
    }
    expect(() => readConfig({ FLAGS_UPSTREAM: 'http://server:4242', FLAGS_UPSTREAM_TOKEN: '' })).toThrow(
      'must be the secret',
    );
  });

  it.each(ours)('keeps the root of %s read-only, and publishes it on this machine only', (name) => {
    expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    for (const port of services[name].ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:4242$/);
  });

  it.each(['postgres'])('names an exact version of %s', (name) => {
    expect(services[name].image).toMatch(/:\d+\.\d+/);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => {
    if ('errors' in document && document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
  const ofKind = (kind: string) => documents.filter((one) => one.kind === kind);

  it('has one Secret, which is empty, and names only keys of it', () => {
    const [secret, ...others] = ofKind('Secret');
    expect(others).toEqual([]);
    expect(new Set(Object.values(secret.stringData))).toEqual(new Set(['']));
    const used = [...JSON.stringify(documents).matchAll(/"secretKeyRef":\{"name":"flags","key":"([^"]+)"\}/g)];
    expect(used.map(([, key]) => key).toSorted()).toEqual(Object.keys(secret.stringData).toSorted());
  });

  it.each(['flags-server', 'flags-follower'])('runs two of %s with probes, a budget and without rights', (name) => {
    const { spec } = ofKind('Deployment').find(({ metadata }) => metadata.name === name);
    expect(spec.replicas).toBe(2);
    const pod = spec.template.spec;
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    const [container] = pod.containers;
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    expect(container.startupProbe.httpGet.path).toBe('/live');
    expect(container.livenessProbe.httpGet.path).toBe('/live');
    expect(container.readinessProbe.httpGet.path).toBe('/ready');
    const environment = Object.fromEntries(
      container.env.map((one: { name: string; value?: string }) => [one.name, one.value ?? 'x'.repeat(43)]),
    );
    expect(() => readConfig(environment)).not.toThrow();
    const labels = spec.template.metadata.labels;
    expect(spec.selector.matchLabels).toEqual(labels);
    for (const kind of ['PodDisruptionBudget', 'Service']) {
      const { spec: other } = ofKind(kind).find(({ metadata }) => metadata.name === name);
      expect(other.selector.matchLabels ?? other.selector).toEqual(labels);
    }
  });
});
