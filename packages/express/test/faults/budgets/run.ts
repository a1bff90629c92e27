import type { Awaitable } from '@flags/core';
import { SECRETS } from './definitions.js';
import type { Answer, MeasuredServer, Sent, ServerProgram } from './measured-server.js';
import type { Figures } from './probe.js';
import { type Preparation, pathOf } from './row.js';
import type { Configuration } from './served.js';
import type { Case, Kind } from './table.js';

/** What became of one row. */
export interface Result {
  readonly route: string;
  readonly kind: Kind;
  readonly name: string;
  /** Of the last answer that was not a success, or of the last. */
  readonly status: Answer['status'];
  /** Of all answers. */
  readonly bytes: number;
  /** Undefined where the process has ended. */
  readonly figures: Figures | undefined;
  readonly isAsExpected: boolean;
}

/** Sends every row, one after the other. A server that has died is replaced. */
export async function measureAll(
  program: ServerProgram,
  configuration: () => Awaitable<Configuration>,
  cases: readonly Case[],
  tell: (result: Result) => void = () => undefined,
): Promise<readonly Result[]> {
  let server = await program.start(await configuration());
  const results: Result[] = [];
  try {
    for (const one of cases) {
      if (!server.isAlive()) server = await program.start(await configuration());
      const result = await measureCase(server, one);
      results.push(result);
      tell(result);
    }
  } finally {
    await server.stop();
  }
  return results;
}

async function measureCase(server: MeasuredServer, one: Case): Promise<Result> {
  const { route, kind, row } = one;
  for (const preparation of row.before ?? []) await server.ask(prepared(preparation));
  if (row.advance) await server.advance(row.advance);
  const sent = Array.from({ length: row.times ?? 1 }, (_, round) => round);
  const answers: Answer[] = [];
  const figures = await server.measure(async () => {
    for (const round of sent) if (server.isAlive()) answers.push(await server.ask(requestOf(one, round)));
  });
  for (const preparation of row.after ?? []) if (server.isAlive()) await server.ask(prepared(preparation));
  const status = (answers.find((answer) => !isSuccess(answer)) ?? answers.at(-1))?.status ?? 'died';
  return {
    route: `${route.method} ${route.path}`,
    kind,
    name: row.name,
    status,
    bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
    figures,
    isAsExpected: isExpected(one, status),
  };
}

function isSuccess({ status }: Answer): boolean {
  return typeof status === 'number' && status < 400;
}

function isExpected({ row, kind, route }: Case, status: Answer['status']): boolean {
  if (typeof status !== 'number' || status >= 500) return false;
  const isAdmitted = kind === route.access || (route.access === 'ofrep' && (kind === 'client' || kind === 'frontend'));
  if (!isAdmitted && !route.isOpen) return status === 401 || status === 403;
  return !row.isGranted || status < 400;
}

function requestOf({ route, kind, row }: Case, round: number): Sent {
  const path = typeof row.path === 'function' ? row.path(round) : (row.path ?? pathOf(route.path));
  const body = row.body?.(round);
  return {
    method: route.method,
    path,
    headers: { ...headersOf(kind, body), ...row.headers },
    ...(body !== undefined && { body }),
    isEndless: route.reply.media === 'text/event-stream',
  };
}

function prepared({ method, path, body: make }: Preparation): Sent {
  const body = make?.();
  return { method, path, headers: headersOf('admin', body), ...(body !== undefined && { body }) };
}

function headersOf(kind: Kind, body: string | undefined): Record<string, string> {
  return {
    ...(kind !== 'nobody' && { authorization: SECRETS[kind] }),
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }),
  };
}

/** What the project promises; times in milliseconds, memory in bytes. */
const PROMISE = { stall: 100, added: 64 * 1024 * 1024 };
/** Asserted with room for a machine that does other things as well. */
const ROOM = 3;

export function isWithin({ figures, isAsExpected }: Result, room = ROOM): boolean {
  if (!figures || !isAsExpected) return false;
  return figures.stall <= PROMISE.stall * room && figures.added <= PROMISE.added * room;
}

/** As a table, the worst first. */
export function tableOf(results: readonly Result[]): string {
  const rows = [...results].sort((one, other) => weight(other) - weight(one)).map(cells);
  const head = ['Route', 'Token', 'Sent', 'Status', 'Answer', 'Stall', 'By the clock', 'Longest GC', 'Memory'];
  const rule = head.map((_, index) => (index < 3 ? ':--' : '--:'));
  return [head, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function weight({ figures, isAsExpected }: Result): number {
  if (!figures) return Number.POSITIVE_INFINITY;
  const share = Math.max(figures.stall / PROMISE.stall, figures.added / PROMISE.added);
  return isAsExpected ? share : share + 1000;
}

function cells({ route, kind, name, status, bytes, figures }: Result): readonly string[] {
  const milliseconds = (time: number | undefined) => (time === undefined ? '–' : `${Math.round(time)} ms`);
  const mebibytes = (size: number | undefined) => (size === undefined ? '–' : `${(size / 1024 / 1024).toFixed(1)} MiB`);
  const measured = [figures?.stall, figures?.clock, figures?.collection].map(milliseconds);
  return [`\`${route}\``, kind, name, String(status), mebibytes(bytes), ...measured, mebibytes(figures?.added)];
}
