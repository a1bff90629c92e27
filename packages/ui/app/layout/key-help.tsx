import { Checkbox } from '../parts/control/controls.js';
import { Dialog } from '../parts/form/dialog.js';
import { Table } from '../parts/list/table.js';
import { hasLetters, KEYS, overlay, setLetters } from '../state/keys.js';
import { Palette } from './palette.js';

/** The palette or the help, while one of them is open. */
export function Overlay() {
  if (overlay.value === 'palette') return <Palette />;
  return overlay.value === 'help' ? <KeyHelp /> : null;
}

function KeyHelp() {
  return (
    <Dialog
      title="Keyboard shortcuts"
      onClose={() => {
        overlay.value = undefined;
      }}
    >
      <div class="dialog-body">
        <Table
          class="plain keys"
          items={KEYS}
          keyOf={([keys]) => keys}
          columns={[
            { title: 'Key', cell: ([keys]) => keys.split(' ').map((key) => <kbd key={key}>{key}</kbd>) },
            { title: 'What it does', cell: ([, what]) => what },
          ]}
        />
        <Checkbox isChecked={hasLetters.value} onChange={setLetters}>
          Single-letter keys
        </Checkbox>
        <p class="muted">Letters do nothing while you type in a field.</p>
      </div>
    </Dialog>
  );
}
