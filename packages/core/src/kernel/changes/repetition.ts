import { createHash } from 'node:crypto';
import { v5 as nameBasedId } from 'uuid';
import { FlagsError } from '../../base/errors.js';
import { canonicalJson, isObject } from '../../base/json.js';
import { invalidInput } from '../../base/validator.js';
import type { Documents } from '../../storage/document-reader.js';
import type { DocumentPut, FlagsStorage } from '../../storage/port.js';
import type { Engine } from '../engine.js';
import type { RepetitionKey, SetContext } from './change-engine.js';

/** A change as the caller names it. */
export interface HashedChange {
  readonly op: string;
  readonly ref?: unknown;
  readonly input?: unknown;
}

/** Hashes changes before they are planned: their operations, references and inputs. */
export class ChangesHash {
  private readonly hash = createHash('sha256');

  constructor(private readonly engine: Pick<Engine, 'operations'>) {}

  /**
   * Adds a change. Optional members of its reference, such as the project of a segment, are conditions like
   * `ifRevision`, and not part of the change.
   *
   * @throws FlagsError `invalid_input` for an input that is not JSON
   */
  add({ op, ref, input }: HashedChange): void {
    const members = (this.engine.operations.find(op)?.ref ?? []).filter(
      (member) => !member.endsWith('?') && isObject(ref),
    );
    const named = members.map((member) => (ref as Readonly<Record<string, unknown>>)[member]);
    this.addValue([op, named, input]);
  }

  /** @throws FlagsError `invalid_input` for a value that is not JSON */
  addValue(value: unknown): void {
    try {
      this.hash.update(`${canonicalJson(value)}\n`);
    } catch {
      throw invalidInput([{ message: 'must be JSON without cycles, because the call has an id', path: '' }]);
    }
  }

  digest(): string {
    return this.hash.digest('base64url');
  }
}

/** Returns a hash that is equal for equal JSON values. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

type Actor = Pick<SetContext, 'actor' | 'actorToken'>;

/** The stored record of a change set whose id the caller has given. */
interface ChangeSetRecord {
  /** The id of the API token, or the name of the user. */
  readonly actor: string;
  readonly hash: string;
}

const changeSetRecords: Documents<ChangeSetRecord> = { kind: 'change-set', parentOf: () => null };

/**
 * Returns the write that remembers a set. The write expects no stored document: if several sets have one id, in
 * any processes, exactly one is committed.
 */
export function recordOf(actor: Actor, { id, hash }: RepetitionKey): DocumentPut {
  const body: ChangeSetRecord = { actor: nameOfActor(actor), hash };
  return { key: { kind: changeSetRecords.kind, id }, expected: 0, parent: null, body, summary: null };
}

/**
 * Whether the set of an id is committed already.
 *
 * @throws FlagsError `id_taken` if another actor, or other changes, have its id
 */
export async function isRepetition(
  storage: Pick<FlagsStorage, 'get' | 'events'>,
  actor: Actor,
  { id, hash }: RepetitionKey,
): Promise<boolean> {
  // Read the events before the record: a caller's id has a record as soon as it has events.
  const { events } = await storage.events({
    order: 'newest-first',
    filter: { changeSet: id },
    limit: 1,
    withoutData: true,
  });
  if (events.length === 0) return false;
  const record = (await storage.get({ kind: changeSetRecords.kind, id }))?.body as ChangeSetRecord | undefined;
  if (record?.hash === hash && record.actor === nameOfActor(actor)) return true;
  const message = `The id ${id} belongs to a change set of another actor or with other changes. Choose a new id.`;
  throw new FlagsError('id_taken', message);
}

/** A user and a token may have the same name. */
function nameOfActor({ actor, actorToken }: Actor): string {
  return actorToken ? `token ${actorToken.id}` : `user ${actor}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the id of a change set in lower case. Throws `invalid_input` unless it is a UUID. */
export function readChangeSetId(id: unknown): string {
  if (typeof id === 'string' && UUID.test(id)) return id.toLowerCase();
  throw invalidInput([{ message: 'must be a UUID', path: '/id' }]);
}

/** Returns an id that follows from the id of a change set or a change request, so that a repeated call makes the same one. */
function deriveId(changeSet: string, name: string): string {
  // As bytes, because the package accepts only some versions of UUIDs as text.
  return nameBasedId(name, Buffer.from(changeSet.replaceAll('-', ''), 'hex'));
}

/**
 * Returns the engine with ids that follow from the id of a change set or a change request.
 *
 * @param of a change set and a request may have the same id, and make other documents
 */
export function withDerivedIds<E extends { readonly newId: () => string }>(
  engine: E,
  id: string,
  of: 'change set' | 'change request' = 'change set',
): E {
  let count = 0;
  const name = () => (of === 'change set' ? `${count++}` : `${of} ${count++}`);
  const newId = () => deriveId(id, name());
  return Object.assign(Object.create(engine) as E, { newId });
}
