import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../../api/call.js';
import { refusalText } from '../../model/refusal.js';
import { Button } from '../control/controls.js';
import { Icon } from '../control/icons.js';
import { Heading } from './heading.js';

/** The text of an empty list or screen. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The screen of a thing that does not exist. */
export function Missing({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="narrow">
      <Heading title={title} />
      <p>{children}</p>
    </section>
  );
}

/** Shows an error. Offers to repeat a read. */
export function Fault({ error }: { readonly error: ApiError }) {
  const canRetry = error.retry !== undefined && error.status !== 400 && error.status !== 404;
  return (
    <div class="fault" role="alert">
      <Icon name="warning" />
      <p>{refusalText(error)}</p>
      {canRetry && <Button onClick={error.retry}>Try again</Button>}
    </div>
  );
}

/** Placeholder rows while content loads. Invisible for the first 100 milliseconds. */
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 100);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" aria-busy="true">
      {isShown && Array.from({ length: rows }, (_, index) => <div key={index} class="skeleton" />)}
      <span class="hidden">Loading</span>
    </div>
  );
}
