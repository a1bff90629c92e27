import { useState } from 'preact/hooks';
import type { Change } from '../api/types.js';
import { type Proposal, propose } from '../state/changes.js';
import { may } from '../state/session.js';

export interface Switched {
  readonly project: string;
  readonly flag: string;
  readonly revision: number;
  readonly environment: {
    readonly name: string;
    readonly enabled: boolean;
    readonly strategyCount: number;
    /** The parent flag that turns this flag off for everybody, although this flag is enabled. */
    readonly offBecauseOf: string | null;
  };
}

/** Switches a flag in one environment. Shows the state of the server, and "saving" until the reply. */
export function FlagSwitch({ project, flag, revision, environment }: Switched) {
  const [isSaving, setSaving] = useState(false);
  const action = environment.enabled ? 'disable' : 'enable';
  const isAllowed = may(action, project) && may('applyChanges', project);
  const blocker = environment.enabled ? environment.offBecauseOf : null;
  const blockedBy = blocker === null ? undefined : `Off because of ${blocker}`;
  const change = async () => {
    if (!isAllowed || isSaving) return;
    setSaving(true);
    await propose(switchProposal({ project, flag, revision, environment }));
    setSaving(false);
  };
  return (
    <span class="switch-cell">
      <button
        type="button"
        role="switch"
        class={blocker === null ? 'switch' : 'switch blocked'}
        aria-checked={environment.enabled}
        aria-label={`${flag} in ${environment.name}`}
        aria-disabled={!isAllowed}
        aria-busy={isSaving}
        title={isAllowed ? blockedBy : `Needs the permission ${action}`}
        onClick={change}
      >
        <span class="knob" />
      </button>
      <span class="switch-state" aria-hidden="true">
        {isSaving ? '…' : environment.enabled && blocker === null ? 'on' : 'off'}
      </span>
    </span>
  );
}

/** Adds a strategy to a flag without strategies, because the API would refuse to enable it. */
function switchProposal({ project, flag, revision, environment }: Switched): Proposal {
  const ref = { project, flag, environment: environment.name };
  const verb = environment.enabled ? 'Disable' : 'Enable';
  const needsStrategy = !environment.enabled && environment.strategyCount === 0;
  const first: Change[] = needsStrategy ? [{ op: 'addStrategy', ref, input: fullRollout(flag) }] : [];
  const changes: Change[] = [...first, { op: environment.enabled ? 'disable' : 'enable', ref }];
  return {
    title: `${verb} ${flag} in ${environment.name}`,
    changes: changes.map((change, index) => (index === 0 ? { ...change, ifRevision: revision } : change)),
    done: `${flag} is ${environment.enabled ? 'off' : 'on'} in ${environment.name}.`,
  };
}

export function fullRollout(flag: string) {
  return { name: 'flexibleRollout', parameters: { rollout: '100', stickiness: 'default', groupId: flag } };
}
