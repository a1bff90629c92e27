import { useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import { invalidateAfterChange } from '../../api/resource.js';
import type { ApprovalPolicy } from '../../api/types.js';
import { type Way, waysOf } from '../../model/ways.js';
import { currentProject } from '../../router.js';
import { loadedPolicy } from '../../state/approvals.js';
import { type LaterTimes, repeatUnknown, requestedMessage, showPostponed } from '../../state/changes.js';
import { acceptsTimes, environmentNames, offers } from '../../state/session.js';
import { showToast } from '../../state/toasts.js';
import { plural } from '../../words.js';
import { DialogButton } from '../control/controls.js';
import { FormDialog } from '../form/dialog.js';
import { ReasonField, TextField } from '../form/field.js';
import { firstTimes, laterText, WayField } from '../review/way-field.js';

/** Says which environments need approval, and lets admins change it. Absent where neither matters. */
export function PolicyLine() {
  const policy = loadedPolicy.value;
  // The form starts with the present policy, so it needs the policy first.
  if (policy === undefined) return null;
  const { environments, unknownEnvironments = [] } = policy;
  const mayChange = offers('changeApprovalPolicy', currentProject());
  const needed = Object.entries(environments);
  if (needed.length === 0 && !mayChange) return null;
  const counts = needed.map(([name, { required }]) => `${name} (${plural(required, 'person', 'people')})`);
  return (
    <p class="policy">
      {counts.length === 0 ? 'No environment needs approval.' : `Changes need approval in ${counts.join(', ')}.`}{' '}
      {unknownEnvironments.length > 0 && (
        <span class="tag warning">This server has no environment {unknownEnvironments.join(', ')}</span>
      )}
      {mayChange && (
        <DialogButton
          class="quiet"
          label="Change which environments need approval"
          dialog={(close) => <PolicyDialog policy={policy} onClose={close} />}
        >
          Change…
        </DialogButton>
      )}
    </p>
  );
}

interface PolicyDialogProps {
  readonly policy: ApprovalPolicy;
  readonly onClose: () => void;
}

/** The largest number that the service accepts. */
const MOST = 10;

function PolicyDialog({ policy, onClose }: PolicyDialogProps) {
  const names = [...new Set([...environmentNames.value, ...Object.keys(policy.environments)])];
  const [counts, setCounts] = useState(() =>
    Object.fromEntries(names.map((name) => [name, `${policy.environments[name]?.required ?? 0}`])),
  );
  const [reason, setReason] = useState('');
  const [chosen, setChosen] = useState<Way>();
  const [times, setTimes] = useState<LaterTimes>(firstTimes);
  const lowered = Object.entries(policy.environments).filter(([name, { required }]) => Number(counts[name]) < required);
  const project = currentProject();
  const approval =
    lowered.length === 0
      ? null
      : {
          environments: lowered.map(([name]) => name),
          required: Math.max(...lowered.map(([, { required }]) => required)),
        };
  const ways = waysOf({
    needsApproval: approval !== null,
    acceptsTimes: acceptsTimes.value,
    canRequest: offers('createChangeRequest', project),
    mayApply: true,
    mayBypass: offers('bypassApproval', project),
    isReplacement: false,
  });
  const way = ways.find((one) => one === chosen) ?? ways[0];
  const bypasses = approval !== null && way === 'now';
  const save = async () => {
    const protectedOnes = names.filter((name) => Number(counts[name]) > 0);
    const environments = Object.fromEntries(protectedOnes.map((name) => [name, { required: Number(counts[name]) }]));
    const why = reason.trim();
    if (way !== 'now') {
      const changes = [{ op: 'setApprovalPolicy', input: { environments } }];
      const body = { changes, ...(why && { reason: why }), ...(way === 'later' && times) };
      const { data } = await repeatUnknown((key) => call('createChangeRequest', { body, key }));
      showPostponed(requestedMessage(data));
    } else {
      await call('changeApprovalPolicy', { body: { environments }, ...(bypasses ? { bypass: why } : { reason: why }) });
      showToast({ tone: 'done', text: 'It was changed which environments need approval.' });
    }
    onClose();
    await invalidateAfterChange();
  };
  const submitText = way === 'request' ? 'Request' : way === 'later' ? laterText(times) : 'Save';
  return (
    <FormDialog
      title="Which environments need approval"
      submit={bypasses ? `${submitText}, without approval` : submitText}
      isDanger={bypasses}
      blocked={way === undefined ? 'It needs approval.' : undefined}
      onSubmit={save}
      onClose={onClose}
    >
      <p class="muted">
        The number of people who must approve a change there, besides its author. 0: none. Switching a flag off never
        needs approval.
      </p>
      {names.map((name) => (
        <TextField
          key={name}
          label={`Approvals in ${name}`}
          type="number"
          min={0}
          max={MOST}
          step={1}
          required
          path={`/environments/${name}/required`}
          value={counts[name] ?? '0'}
          onChange={(count) => setCounts({ ...counts, [name]: count })}
        />
      ))}
      <WayField ways={ways} way={way} approval={approval} times={times} onChoose={setChosen} onTimes={setTimes} />
      <ReasonField
        use={bypasses ? 'bypass' : way === 'request' ? 'request' : 'change'}
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  );
}
