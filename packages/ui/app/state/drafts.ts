import { isSameJson } from '@flags/core/admin';
import { signal } from '@preact/signals';
import type { FlagDetail } from '../api/types.js';

/** An unsaved edit of a flag or a segment: the original state and the edited one. */
export interface Draft<T = FlagDetail> {
  readonly base: T;
  /** The revision of the base. */
  readonly revision: number;
  readonly mine: T;
}

const PREFIX = 'flags-ui:draft:';

/** All drafts of this tab, by flag, or by `segment 7`. They survive a reload and a sign-in. */
const drafts = signal<ReadonlyMap<string, Draft<unknown>>>(new Map(storedDrafts()));

function* storedDrafts(): Generator<[string, Draft<unknown>]> {
  for (const key of Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX))) {
    try {
      yield [key.slice(PREFIX.length), JSON.parse(sessionStorage.getItem(key) ?? '')];
    } catch {
      sessionStorage.removeItem(key);
    }
  }
}

export function draftOf<T = FlagDetail>(flag: string): Draft<T> | undefined {
  return drafts.value.get(flag) as Draft<T> | undefined;
}

/** Stores a draft. Deletes it if it equals its base. */
export function keepDraft<T>(flag: string, draft: Draft<T>): void {
  if (isSameJson(draft.base, draft.mine)) {
    discardDraft(flag);
    return;
  }
  drafts.value = new Map(drafts.peek()).set(flag, draft);
  try {
    sessionStorage.setItem(PREFIX + flag, JSON.stringify(draft));
  } catch {
    // The storage is full: the draft exists until the page closes.
  }
}

export function discardDraft(flag: string): void {
  const rest = new Map(drafts.peek());
  rest.delete(flag);
  drafts.value = rest;
  sessionStorage.removeItem(PREFIX + flag);
}
