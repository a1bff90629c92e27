import { hasLetters, KEYS, overlay, setLetters } from '../state/keys.js';
import { Dialog } from './dialog.js';
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
        <table class="plain keys">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">What it does</th>
            </tr>
          </thead>
          <tbody>
            {KEYS.map(([keys, what]) => (
              <tr key={keys}>
                <td>
                  {keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </td>
                <td>{what}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <label class="checkbox">
          <input
            type="checkbox"
            checked={hasLetters.value}
            onChange={({ currentTarget }) => setLetters(currentTarget.checked)}
          />
          Single-letter keys
        </label>
        <p class="muted">Letters do nothing while you type in a field.</p>
      </div>
    </Dialog>
  );
}
