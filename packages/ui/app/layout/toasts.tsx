import { Button, IconButton } from '../parts/control/controls.js';
import { Icon } from '../parts/control/icons.js';
import { closeToast, toasts } from '../state/toasts.js';

/** Messages about completed actions, with a button to undo each. */
export function Toasts() {
  return (
    <section class="toasts" aria-label="Messages">
      <div role="status" aria-live="polite">
        {toasts.value.map(({ id, text, tone, action }) => (
          <div key={id} class={`toast ${tone}`}>
            <Icon name={tone === 'done' ? 'check' : 'warning'} />
            <span>{text}</span>
            {action && (
              <Button
                class="link"
                onClick={() => {
                  closeToast(id);
                  action.run();
                }}
              >
                {action.label}
              </Button>
            )}
            <IconButton icon="close" label="Close the message" onClick={() => closeToast(id)} />
          </div>
        ))}
      </div>
    </section>
  );
}
