// Runs two builds beside each other: node scripts/rolling/run.mjs EARLIER LATER, folders in which they are installed.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres } from '../../test/postgres/dist/index.js';

const [earlier, later] = process.argv.slice(2);
const nodes = new Set();
const postgres = await startPostgres({});
try {
  await roll('SQLite', join(later, 'flags.db'));
  await roll('PostgreSQL', postgres.url());
} finally {
  for (const node of nodes) node.kill();
  await postgres.close();
}

/** Replaces a node of the earlier build, while both change one flag. Each change is made once, and all nodes hear of it. */
async function roll(title, store) {
  const one = await start('one', earlier, store);
  await one('create');
  const two = await start('two', later, store);
  await sees(two, true);
  await two('disable');
  await sees(one, false);
  const before = await one('countChanges');
  await Promise.all([one('describe', 10), two('describe', 10)]);
  assert.equal(await one('countChanges'), before + 20);
  await one('enable');
  await sees(two, true);
  await one('close');
  const three = await start('three', later, store);
  await sees(three, true);
  await three('disable');
  await sees(two, false);
  for (const node of [two, three]) await node('close');
  console.log(`A node of each build worked on ${title}, and one replaced the other.`);
}

/** Starts a node. Returns a function that lets it do something, and returns the result. */
async function start(name, folder, store) {
  const node = fork(join(folder, 'node.mjs'), [name, store], { cwd: folder });
  nodes.add(node);
  const waiting = new Map();
  let last = 0;
  const reply = (id) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  node.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    if (error === undefined) resolve(result);
    else reject(new Error(`${name}: ${error}`));
  });
  node.once('exit', (code) => {
    nodes.delete(node);
    for (const { reject } of waiting.values()) reject(new Error(`The node ${name} ended with ${code}.`));
  });
  await reply(0);
  return (work, input) => {
    node.send({ id: ++last, work, input });
    return reply(last);
  };
}

async function sees(node, expected) {
  for (const deadline = Date.now() + 20_000; (await node('isEnabled')) !== expected; ) {
    assert(Date.now() < deadline, `The node does not see that the flag is ${expected ? 'on' : 'off'}.`);
    await delay(20);
  }
}
