import { useEffect, useState } from 'preact/hooks';
import type { Change, FlagDetail } from '../api/types.js';
import { type Difference, flagDifferences } from '../model/differences.js';
import { changesBetween } from '../model/flag-changes.js';
import { type Choices, isEqual, type Merge, mergeDocuments } from '../model/merge.js';
import { type Draft, discardDraft, draftOf, keepDraft } from './drafts.js';
import { showToast } from './toasts.js';

/** An edit of a flag that others may change at the same time. */
export interface FlagEdit {
  readonly draft: Draft;
  /** Whether there is an unsaved edit. */
  readonly isKept: boolean;
  readonly changes: readonly Change[];
  readonly differences: readonly Difference[];
  /** Present if both have changed the same parts: the user has to choose. */
  readonly conflict: Conflict | undefined;
  readonly edit: (mine: FlagDetail) => void;
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
 * Edits a flag under a key of its own. Edits of other parts by others merge by themselves; for the same parts there is a
 * conflict to resolve.
 */
export function useFlagEdit(key: string, newest: FlagDetail, revision: number): FlagEdit {
  const [choices, setChoices] = useState<Choices>(new Map());
  // Lists that are absent merge as empty ones.
  const { variants, labels = [], dependencies = [] } = newest;
  const detail: FlagDetail = { ...newest, variants: variants ?? [], labels, dependencies };
  const kept = draftOf(key);
  const draft: Draft = kept ?? { base: detail, revision, mine: detail };
  const isOutdated = draft.revision !== revision && !isEqual(draft.base, detail);
  const merge = mergeDocuments({ base: draft.base, theirs: detail, mine: draft.mine }, choices);
  const mustResolve = isOutdated && merge.conflicts.length > 0;

  // The merged draft stands on the newest state.
  useEffect(() => {
    if (kept === undefined || draft.revision === revision || mustResolve) return;
    keepDraft(key, { base: detail, revision, mine: merge.result });
    if (isOutdated)
      showToast({ tone: 'done', text: 'Somebody else has changed this flag. Your draft was merged with it.' });
  }, [kept, revision, mustResolve]);

  const discard = () => {
    discardDraft(key);
    setChoices(new Map());
  };
  return {
    draft,
    isKept: kept !== undefined,
    changes: changesBetween(draft.base, draft.mine, draft.revision),
    differences: flagDifferences(draft.base, draft.mine),
    edit: (mine) => keepDraft(key, { ...draft, mine }),
    discard,
    conflict: mustResolve
      ? {
          merge,
          choices,
          choose: (path, side) => setChoices(new Map(choices).set(path, side)),
          resolve: () => {
            keepDraft(key, { base: detail, revision, mine: merge.result });
            setChoices(new Map());
          },
          discard,
        }
      : undefined,
  };
}
