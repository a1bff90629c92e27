/*
 * A complete storage: everything in one JSON file, for one process. Each commit writes the whole file. The conformance suite of
 * `@flags/core/testing` runs on it. examples/embedded/README.md explains what it has to do.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { FlagsError } from '@flags/core';
import type { Commit, CommitResult, DocumentKey, DocumentWrite, FlagsStorage, StoredEvent } from '@flags/core/storage';

interface Row {
  readonly key: DocumentKey;
  readonly parent: string | null;
  readonly revision: number;
  readonly body: unknown;
  readonly summary: unknown;
  readonly deleted: boolean;
}

interface State {
  readonly rows: ReadonlyMap<string, Row>;
  readonly events: readonly StoredEvent[];
}

export async function fileStorage(path: string): Promise<FlagsStorage> {
  let state = await load(path);
  let lastCommit: Promise<unknown> = Promise.resolve();
  let closed = false;

  const present = (): State => {
    if (closed) throw new FlagsError('closed', 'The storage has been closed.');
    return state;
  };

  async function commitNow(commit: Commit): Promise<CommitResult> {
    const outcome = apply(state, commit);
    if (!outcome.ok) return outcome;
    await save(path, outcome.state);
    state = outcome.state;
    return { ok: true, revisions: outcome.revisions };
  }

  return {
    async get(key) {
      const row = present().rows.get(nameOf(key));
      return row && !row.deleted
        ? copy({ key: row.key, parent: row.parent, revision: row.revision, body: row.body })
        : undefined;
    },
    async list({ kind, parent, part, after, limit }) {
      return [...present().rows.values()]
        .filter((row) => !row.deleted && row.key.kind === kind && (parent === undefined || row.parent === parent))
        .filter((row) => after === undefined || inCodePointOrder(after, row.key.id) < 0)
        .sort((a, b) => inCodePointOrder(a.key.id, b.key.id))
        .slice(0, limit)
        .map((row) => copy({ key: row.key, parent: row.parent, revision: row.revision, content: row[part] }));
    },
    // One commit at a time: each sees the state that the previous commit saved.
    async commit(commit) {
      present();
      const own = copy(checked(commit));
      const result = lastCommit.then(() => commitNow(own));
      lastCommit = result.catch(() => undefined);
      return result;
    },
    async events({ order, after, until, filter = {}, limit, offset = 0, maxBytes, total }) {
      const { project, subject, type, changeSet, from, to } = filter;
      const matching = present().events.filter(
        (event) =>
          (after === undefined || event.id > idAt(after)) &&
          (until === undefined || event.id <= idAt(until)) &&
          (project === undefined || event.project === project) &&
          (subject === undefined || nameOf(event.subject) === nameOf(subject)) &&
          (type === undefined || event.type === type) &&
          (changeSet === undefined || event.changeSet === changeSet) &&
          (from === undefined || event.at >= from) &&
          (to === undefined || event.at <= to),
      );
      if (order === 'newest-first') matching.reverse();
      const events = copy(upTo(maxBytes, matching.slice(offset, offset + limit)));
      return total ? { events, total: matching.length } : { events };
    },
    async close() {
      closed = true;
      await lastCommit;
    },
  };
}

/** The first event, and as many after it as have room. */
function upTo(maxBytes = Number.POSITIVE_INFINITY, events: StoredEvent[]): StoredEvent[] {
  let bytes = 0;
  const end = events.findIndex(({ data, before }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(data) + JSON.stringify(before));
    return bytes > maxBytes && index > 0;
  });
  return end < 0 ? events : events.slice(0, end);
}

type Outcome = { ok: true; state: State; revisions: number[] } | { ok: false; conflict: DocumentKey };

function apply({ rows, events }: State, commit: Commit): Outcome {
  const { writes, checks = [], vacant = [] } = commit;
  const current = (key: DocumentKey) => rows.get(nameOf(key));
  const moved = [...writes, ...checks].find(({ key, expected }) => {
    const row = current(key);
    return (row && !row.deleted ? row.revision : 0) !== expected;
  });
  if (moved) return { ok: false, conflict: moved.key };

  const next = new Map(rows);
  const revisions = writes.map((write) => {
    const revision = (current(write.key)?.revision ?? 0) + 1;
    next.set(nameOf(write.key), { ...contentAfter(write, current(write.key)), key: write.key, revision });
    return revision;
  });
  const inTheWay = [...next.values()].find(
    (row) => !row.deleted && vacant.some(({ kind, parent }) => row.key.kind === kind && row.parent === parent),
  );
  if (inTheWay) return { ok: false, conflict: inTheWay.key };

  const added = commit.events.map((event, index) => {
    const id = events.length + index + 1;
    const revision = next.get(nameOf(event.subject))?.revision ?? 0;
    const { reason = null } = event;
    return { ...event, reason, id, position: String(id), revision };
  });
  return { ok: true, state: { rows: next, events: [...events, ...added] }, revisions };
}

/** A touched document keeps its content. A deleted one keeps only its key and revision. */
function contentAfter(write: DocumentWrite, before: Row | undefined): Omit<Row, 'key' | 'revision'> {
  const deleted = { parent: null, body: null, summary: null, deleted: true };
  if ('touch' in write) return before ?? deleted;
  if ('deleted' in write) return deleted;
  const { parent, body, summary } = write;
  return { parent, body, summary, deleted: false };
}

function checked(commit: Commit): Commit {
  const written = new Set(commit.writes.map(({ key }) => nameOf(key)));
  const named = [...commit.writes, ...(commit.checks ?? [])];
  const sound =
    new Set(named.map(({ key }) => nameOf(key))).size === named.length &&
    commit.events.every(({ subject }) => written.has(nameOf(subject)));
  if (sound) return commit;
  throw new FlagsError(
    'invalid_input',
    'A commit may name each document once, and may have events only of documents that it writes.',
  );
}

/** Replaces the file in one step: after a crash either the old or the new file is there. */
async function save(path: string, { rows, events }: State): Promise<void> {
  const file = await open(`${path}.new`, 'w');
  try {
    await file.writeFile(JSON.stringify({ rows: [...rows], events }));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

async function load(path: string): Promise<State> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '{ "rows": [], "events": [] }';
    throw error;
  });
  const { rows, events } = JSON.parse(text);
  return { rows: new Map(rows), events };
}

function inCodePointOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function nameOf({ kind, id }: DocumentKey): string {
  return JSON.stringify([kind, id]);
}

function idAt(position: string): number {
  if (/^\d+$/.test(position)) return Number(position);
  throw new FlagsError('invalid_input', `${position} is not a position of this storage.`);
}

/** Callers may mutate the values they pass in and the values they receive. */
function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
