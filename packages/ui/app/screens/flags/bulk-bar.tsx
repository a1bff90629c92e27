import { switchChanges } from '@flags/core/admin';
import type { Signal } from '@preact/signals';
import type { Change, ListedFlag } from '../../api/types.js';
import { Button, Picker, sameText } from '../../parts/control/controls.js';
import { trackHeight } from '../../parts/control/track-height.js';
import { propose } from '../../state/changes.js';
import { environmentNames } from '../../state/session.js';
import { showToast } from '../../state/toasts.js';
import { plural } from '../../words.js';

const measureBulk = trackHeight('--bulk');

/** The maximum number of changes in a change set. */
const MAX_CHANGES = 500;

interface BulkBarProps {
  readonly flags: readonly ListedFlag[];
  readonly chosen: Signal<ReadonlySet<string>>;
  readonly isArchive: boolean;
}

interface BulkAction {
  readonly label: string;
  /** Returns the changes of one flag; an empty list if it already has this state. */
  readonly change: (flag: ListedFlag) => readonly Change[];
}

/** The actions for the chosen flags. Each changes all of them in one commit, after the review. */
export function BulkBar({ flags, chosen, isArchive }: BulkBarProps) {
  const selected = flags.filter(({ name }) => chosen.value.has(name));
  if (selected.length === 0) return null;
  const clear = () => {
    chosen.value = new Set();
  };
  const start = ({ label, change }: BulkAction) => {
    const affected = selected.filter((flag) => change(flag).length > 0);
    const changes = affected.flatMap((flag) =>
      change(flag).map((one, index) => (index === 0 ? { ...one, ifRevision: flag.revision } : one)),
    );
    if (changes.length === 0) return showToast({ tone: 'done', text: 'Nothing to change: already in this state.' });
    if (changes.length > MAX_CHANGES) {
      return showToast({ tone: 'fault', text: `One commit takes ${MAX_CHANGES} changes. Choose fewer flags.` });
    }
    void propose({
      isReviewed: true,
      title: `${label}: ${plural(affected.length, 'flag')}`,
      changes,
      done: `${label}: ${plural(affected.length, 'flag')} changed.`,
      onApplied: clear,
    });
  };
  const actions = isArchive ? archiveActions : [...flagActions, ...environmentNames.value.flatMap(switchActions)];
  return (
    <section ref={measureBulk} class="bulk" aria-label="Chosen flags">
      <strong>{plural(selected.length, 'flag')} chosen</strong>
      {actions.slice(0, 3).map((action) => (
        <Button key={action.label} onClick={() => start(action)}>
          {action.label}
        </Button>
      ))}
      {actions.length > 3 && (
        <Picker
          label="More actions for the chosen flags"
          text="More…"
          options={sameText(actions.slice(3).map(({ label }) => label))}
          onChange={(chosenLabel) => {
            const action = actions.find(({ label }) => label === chosenLabel);
            if (action) start(action);
          }}
        />
      )}
      <Button class="quiet" action="Choose no flags" onClick={clear}>
        Clear
      </Button>
    </section>
  );
}

const refOf = ({ project, name }: ListedFlag) => ({ project, flag: name });

function markStale(stale: boolean): BulkAction {
  return {
    label: stale ? 'Mark stale' : 'Mark not stale',
    change: (flag) => (flag.stale === stale ? [] : [{ op: 'updateFlag', ref: refOf(flag), input: { stale } }]),
  };
}

const flagActions: readonly BulkAction[] = [
  markStale(true),
  markStale(false),
  {
    label: 'Archive',
    change: (flag) => (flag.archived ? [] : [{ op: 'archiveFlag', ref: refOf(flag) }]),
  },
];

const archiveActions: readonly BulkAction[] = [
  {
    label: 'Revive',
    change: (flag) => [{ op: 'reviveFlag', ref: refOf(flag) }],
  },
];

/** Enables and disables in one environment. A flag without strategies gets a full rollout. */
function switchActions(environment: string): readonly BulkAction[] {
  const stateOf = (flag: ListedFlag) => flag.environments.find(({ name }) => name === environment);
  return [true, false].map((isEnabled) => ({
    label: `${isEnabled ? 'Enable' : 'Disable'} in ${environment}`,
    change: (flag) => {
      const state = stateOf(flag);
      if (state === undefined || state.enabled === isEnabled) return [];
      const { strategyCount } = state;
      return switchChanges({ ...refOf(flag), environment }, { enabled: isEnabled, strategyCount });
    },
  }));
}
