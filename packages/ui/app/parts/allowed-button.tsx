import type { ComponentChildren } from 'preact';
import { may } from '../state/session.js';

interface AllowedButtonProps {
  /** The actions of `authorize` that the button needs. */
  readonly needs: readonly string[];
  readonly project: string;
  readonly onClick?: () => void;
  readonly type?: 'button' | 'submit';
  /** Whether the action of the button is still running. */
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly label?: string;
  /** Why the button is disabled although the caller has the permission. */
  readonly blocked?: string | undefined;
}

/** A button that is disabled without the permission, and names it. It stays focusable, so that users can read why. */
export function AllowedButton({
  needs,
  project,
  onClick,
  children,
  label,
  blocked,
  type = 'button',
  isBusy = false,
  ...props
}: AllowedButtonProps) {
  const missing = needs.filter((action) => !may(action, project))[0];
  const reason = missing === undefined ? blocked : `Needs the permission ${missing}`;
  return (
    <button
      type={type}
      class={props.class}
      aria-label={label}
      aria-disabled={reason !== undefined || isBusy}
      aria-busy={isBusy}
      title={reason}
      onClick={(event) => {
        if (reason !== undefined || isBusy) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}
