import { closeToast, toasts } from '../state/toasts.js';
import { Icon } from './icons.js';

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
              <button
                type="button"
                class="link"
                onClick={() => {
                  closeToast(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" class="quiet square" aria-label="Close the message" onClick={() => closeToast(id)}>
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    </section>
  );
}
