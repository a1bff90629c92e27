import { type Choices, isSameJson, type Merge, mergeStates } from '@flags/core/admin';
import { useEffect, useState } from 'preact/hooks';
import type { Change, FlagDetail } from '../api/types.js';
import { changesBetween, editableFlag } from '../model/flag-changes.js';
import { type Draft, discardDraft, draftOf, keepDraft } from './drafts.js';
import { showToast } from './toasts.js';

/** An edit of a document that other users may change at the same time. */
export interface Edit<T> {
  readonly draft: Draft<T>;
  /** Whether there is an unsaved edit. */
  readonly isKept: boolean;
  /** Present if both edits change the same parts: the user must choose. */
  readonly conflict: Conflict | undefined;
  readonly edit: (mine: T) => void;
  readonly discard: () => void;
}

export interface Conflict {
  readonly merge: Merge<unknown>;
  readonly choices: Choices;
  readonly choose: (path: string, side: 'mine' | 'theirs') => void;
  readonly resolve: () => void;
  readonly discard: () => void;
}

/**
 * Edits a document; `key` names its draft. Concurrent changes of other parts merge automatically; changes of the same
 * parts are a conflict to resolve.
 */
export function useEdit<T>(key: string, newest: T, revision: number): Edit<T> {
  const [choices, setChoices] = useState<Choices>(new Map());
  const kept = draftOf<T>(key);
  const draft: Draft<T> = kept ?? { base: newest, revision, mine: newest };
  const isOutdated = draft.revision !== revision && !isSameJson(draft.base, newest);
  const merge = mergeStates({ base: draft.base, theirs: newest, mine: draft.mine }, { choices });
  const mustResolve = isOutdated && merge.conflicts.length > 0;
  const keepMerged = () => keepDraft(key, { base: newest, revision, mine: merge.result });

  // The newest state becomes the base of the merged draft.
  useEffect(() => {
    if (kept === undefined || draft.revision === revision || mustResolve) return;
    keepMerged();
    if (isOutdated) showToast({ tone: 'done', text: 'Somebody else has changed this. Your draft was merged with it.' });
  }, [kept, revision, mustResolve]);

  const discard = () => {
    discardDraft(key);
    setChoices(new Map());
  };
  return {
    draft,
    isKept: kept !== undefined,
    edit: (mine) => keepDraft(key, { ...draft, mine }),
    discard,
    conflict: mustResolve
      ? {
          merge,
          choices,
          choose: (path, side) => setChoices(new Map(choices).set(path, side)),
          resolve: () => {
            keepMerged();
            setChoices(new Map());
          },
          discard,
        }
      : undefined,
  };
}

export interface FlagEdit extends Edit<FlagDetail> {
  readonly changes: readonly Change[];
  /** The changes without a new order of strategies. */
  readonly unordered: readonly Change[];
}

export function useFlagEdit(key: string, newest: FlagDetail, revision: number): FlagEdit {
  const edit = useEdit<FlagDetail>(key, editableFlag(newest), revision);
  const { base, mine, revision: seen } = edit.draft;
  const unordered = changesBetween(base, mine, seen, { keepsOrder: true });
  return { ...edit, changes: changesBetween(base, mine, seen), unordered };
}
