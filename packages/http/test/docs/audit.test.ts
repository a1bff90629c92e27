import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** What the audit of a registry that answers looks like. */
const report = (counts: object) => JSON.stringify({ metadata: { vulnerabilities: counts } });
const CLEAN = report({ low: 3, moderate: 2, high: 0, critical: 0 });

describe('.ci/check-audit', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'flags-audit-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs it with an `npx` that prints an answer of the registry. */
  function check(answer: string, setting?: string) {
    writeFileSync(join(folder, 'answer'), answer);
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\nexec cat '${join(folder, 'answer')}'\n`, { mode: 0o755 });
    const { FLAGS_AUDIT: _, ...environment } = process.env;
    const env = { ...environment, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const program = join(__dirname, '../../../../.ci/check-audit');
    const { status, stdout } = spawnSync(program, {
      env: { ...env, ...(setting && { FLAGS_AUDIT: setting }) },
      encoding: 'utf8',
    });
    return { status, stdout };
  }

  it.each([undefined, 'offline', 'required'])('passes without high or critical vulnerabilities (%s)', (setting) => {
    expect(check(CLEAN, setting)).toEqual({ status: 0, stdout: expect.stringContaining('0 critical, 0 high') });
  });

  it.each([undefined, 'offline', 'required'])('fails for a high vulnerability (%s)', (setting) => {
    expect(check(report({ high: 1 }), setting).status).toBe(1);
  });

  it.each([undefined, 'required'])('fails when the audit cannot run (%s)', (setting) => {
    const { status, stdout } = check('ERR_PNPM_AUDIT_BAD_RESPONSE: it responded with 405', setting);
    expect(status).toBe(1);
    expect(stdout).toContain('AUDIT NOT RUN: the registry did not answer (responded with 405).');
    expect(stdout).toContain('FLAGS_AUDIT=offline');
  });

  it('reports an audit that cannot run, and passes in offline mode', () => {
    expect(check('', 'offline')).toEqual({ status: 0, stdout: expect.stringMatching(/^AUDIT NOT RUN/) });
  });
});
