import { useState } from 'preact/hooks';
import type { Context } from '../api/types.js';
import { DialogButton, IconButton, sameText } from '../parts/control/controls.js';
import { Icon } from '../parts/control/icons.js';
import { useContextForm } from '../parts/form/context-form.js';
import { FormDialog } from '../parts/form/dialog.js';
import { SelectField } from '../parts/form/field.js';
import { environmentNames } from '../state/session.js';
import { describeContext, setViewAs, viewAs, viewIn } from '../state/view-as.js';

/** Picks the context of *View as*, in the bar above every screen. */
export function ViewAsPicker() {
  const context = viewAs.value;
  const words = context ? `View as ${describeContext(context)}` : 'View as…';
  return (
    <span class="view-as">
      <DialogButton
        action={words}
        class={context ? 'chip active' : 'chip'}
        dialog={(close) => <Picker context={context} onClose={close} />}
      >
        <Icon name="person" />
        <span class="bar-text">{words}</span>
      </DialogButton>
      {context && <IconButton icon="close" label="Stop viewing as" onClick={() => setViewAs(undefined)} />}
    </span>
  );
}

function Picker({ context, onClose }: { readonly context: Context | undefined; readonly onClose: () => void }) {
  const form = useContextForm(context);
  const [environment, setEnvironment] = useState(viewIn.value);
  const apply = () =>
    form.submit((chosen) => {
      setViewAs(chosen, environment);
      onClose();
    });
  return (
    <FormDialog title="View as" submit="View" onSubmit={apply} onClose={onClose}>
      <p class="muted">Lists, flags and drafts show whether they are on for this user, and why.</p>
      {form.userField}
      {form.otherFields}
      <SelectField
        label="Environment"
        value={environment}
        options={sameText(environmentNames.value)}
        onChange={setEnvironment}
      />
    </FormDialog>
  );
}
