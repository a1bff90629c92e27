import type { NeededApprovals } from '@flags/core/admin';
import type { Way } from '../../model/ways.js';
import { approvalText } from '../../words.js';
import { Segmented } from '../control/controls.js';

interface WayFieldProps {
  readonly ways: readonly Way[];
  readonly way: Way | undefined;
  readonly needsApproval: boolean;
  readonly onChange: (way: Way) => void;
}

const WAYS: Readonly<Record<Way, string>> = { now: 'Apply now', later: 'At a time', propose: 'Propose' };

/** Says how reviewed changes are made. Absent without a choice. */
export function WayField({ ways, way, needsApproval, onChange }: WayFieldProps) {
  if (ways.length < 2 || way === undefined) return null;
  const textOf = (one: Way) => (needsApproval && one !== 'propose' ? `${WAYS[one]}, without approval` : WAYS[one]);
  return (
    <Segmented
      legend="When to apply"
      name="way"
      value={way}
      options={ways.map((one) => [one, textOf(one)] as const)}
      onChange={onChange}
    />
  );
}

interface NeedsApprovalProps {
  readonly approvals: NeededApprovals;
  readonly ways: readonly Way[];
  readonly isRevert?: boolean;
}

/** Says that changes need approval, and what the caller can do about it. */
export function NeedsApproval({ approvals, ways, isRevert = false }: NeedsApprovalProps) {
  return (
    <p class="notice" role="status">
      {approvalText(approvals)}
      {isRevert && ' A revert cannot be proposed: propose a change that does the same.'}
      {!isRevert && ways.length === 0 && ' You may not propose it.'}
    </p>
  );
}
