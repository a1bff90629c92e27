import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, exchange, type SentRequest } from '../http/exchange.js';
import { load, type Round } from '../http/load.js';
import { authorized } from './content.js';
import type { RunningServer } from './program.js';
import type { Scenario } from './scenarios.js';

/** A server under load, and who comes to it. */
export interface Side {
  readonly server: RunningServer;
  readonly admin: string;
  readonly client: string;
}

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
}

const PATIENCE = 240_000;

/**
 * The rounds of each side, in the order in which they took turns; one each to warm up does not count.
 *
 * @throws Error when they do not do the same
 */
export async function compare(sides: readonly Side[], scenario: Scenario, pace: Pace): Promise<readonly Round[][]> {
  const ready = await Promise.all(sides.map((side) => prepare(side, scenario)));
  for (const { facts } of ready) assert.deepEqual(facts, ready[0]?.facts, `${scenario.name}: different answers`);
  const rounds = ready.map((): Round[] => []);
  for (let number = 0; number <= pace.rounds; number++) {
    for (const [at, { server, next }] of ready.entries()) {
      const round = await load({ server, next, status: scenario.status, seconds: pace.seconds });
      if (number > 0) rounds[at]?.push(round);
    }
  }
  return rounds;
}

/** Sends a number of requests to one side, at whatever speed it answers. */
export async function sendRequests(side: Side, scenario: Scenario, requests: number): Promise<void> {
  const { server, next } = await prepare(side, scenario);
  await load({ server, next, status: scenario.status, requests });
}

/** Does it once, and sees what comes of it. */
async function prepare({ server, admin, client }: Side, scenario: Scenario) {
  const token = scenario.token === 'admin' ? admin : client;
  let number = 0;
  const plain = () => authorized(scenario.request(number++), token);
  const answer = await exchange(server.origin, plain());
  assert.equal(answer.status, scenario.conditional ? 200 : scenario.status, answer.body);
  const { request } = scenario.proof;
  const shown = request && authorized(request, admin);
  const facts = await factsOf(scenario, answer, shown && (() => exchange(server.origin, shown)));
  return { server, facts, next: scenario.conditional ? conditional(plain, answer) : plain };
}

function conditional(plain: () => SentRequest, { headers: { etag = '' } }: Answer): () => SentRequest {
  const request = plain();
  const asked = { ...request, headers: { ...request.headers, 'if-none-match': etag } };
  return () => asked;
}

/** What is stored later is waited for. */
async function factsOf(scenario: Scenario, first: Answer, ask?: () => Promise<Answer>): Promise<unknown> {
  const started = performance.now();
  while (performance.now() - started < PATIENCE) {
    const { body } = ask ? await ask() : first;
    const facts = scenario.proof.facts(JSON.parse(body));
    if (facts !== undefined) return facts;
    await pause(100);
  }
  throw new Error(`${scenario.name}: nothing came of it`);
}
