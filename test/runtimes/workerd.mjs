// Runs the public client specification in workerd, the runtime of Cloudflare's workers: `workerd` is on the PATH.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorker } from './bundle-worker.mjs';

const CONFIGURATION = `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);

const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2025-01-01",
);
`;

const directory = mkdtempSync(join(tmpdir(), 'flags-workerd-'));
try {
  writeFileSync(join(directory, 'worker.mjs'), await bundleWorker());
  writeFileSync(join(directory, 'config.capnp'), CONFIGURATION);
  const { status, error } = spawnSync('workerd', ['test', '--verbose', join(directory, 'config.capnp')], {
    stdio: 'inherit',
  });
  if (error) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(directory, { recursive: true });
}
