import { switchChanges } from '@flags/core/admin';
import { useState } from 'preact/hooks';
import type { ListedFlag } from '../../api/types.js';
import { isForNobody } from '../../model/audience.js';
import { type Proposal, propose } from '../../state/changes.js';
import { useAction } from '../../state/page-actions.js';
import { may } from '../../state/session.js';

export interface FlagSwitchProps {
  readonly project: string;
  readonly flag: string;
  readonly revision: number;
  readonly environment: {
    readonly name: string;
    readonly enabled: boolean;
    readonly strategyCount: number;
    /** The parent flag that turns this flag off for everybody, although this flag is enabled. */
    readonly offBecauseOf: string | null;
    /** Whom the strategies admit. */
    readonly audience: ListedFlag['environments'][number]['audience'];
  };
}

/** Switches a flag in one environment. Shows the state of the server, and "saving" until the reply. */
export function FlagSwitch({ project, flag, revision, environment }: FlagSwitchProps) {
  const [isSaving, setSaving] = useState(false);
  const name = `${flag} in ${environment.name}`;
  const action = environment.enabled ? 'disable' : 'enable';
  const isAllowed = may(action, project) && may('applyChanges', project);
  const blocker = environment.enabled ? environment.offBecauseOf : null;
  const blockedBy = blocker === null ? undefined : `Off because of ${blocker}`;
  // Green says that somebody gets the flag.
  const isEffective = blocker === null && !isForNobody(environment.audience);
  const change = async () => {
    if (!isAllowed || isSaving) return;
    setSaving(true);
    await propose(switchProposal({ project, flag, revision, environment }));
    setSaving(false);
  };
  return (
    <span class="switch-cell">
      <button
        ref={useAction<HTMLButtonElement>(
          isAllowed ? `Switch ${environment.enabled ? 'off' : 'on'} ${name}` : undefined,
        )}
        type="button"
        role="switch"
        class={isEffective ? 'switch' : 'switch ineffective'}
        aria-checked={environment.enabled}
        aria-label={name}
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

function switchProposal({ project, flag, revision, environment }: FlagSwitchProps): Proposal {
  const { name, enabled, strategyCount } = environment;
  const verb = enabled ? 'Disable' : 'Enable';
  const changes = switchChanges({ project, flag, environment: name }, { enabled: !enabled, strategyCount });
  return {
    title: `${verb} ${flag} in ${name}`,
    changes: changes.map((change, index) => (index === 0 ? { ...change, ifRevision: revision } : change)),
    done: `${flag} is ${enabled ? 'off' : 'on'} in ${name}.`,
  };
}
