import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiError } from '../../api/call.js';
import type { QueryState } from '../../api/resource.js';
import { Link } from '../control/controls.js';
import { Icon } from '../control/icons.js';
import { Heading } from './heading.js';
import { Fault, Loading } from './states.js';

interface WhenLoadedProps<T> {
  readonly reply: Pick<QueryState<T>, 'data' | 'error'>;
  /** The number of placeholder lines while the reply loads. */
  readonly rows?: number;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows a reply. Until it arrives, shows a placeholder or the error. */
export function WhenLoaded<T>({ reply: { data, error }, rows, children }: WhenLoadedProps<T>) {
  return (
    <>
      {error && <Fault error={error} />}
      {data === undefined && !error && <Loading {...(rows !== undefined && { rows })} />}
      {data !== undefined && children(data)}
    </>
  );
}

interface ScreenProps<T> extends WhenLoadedProps<T> {
  /** The parent screen. */
  readonly back: { readonly to: readonly (string | number)[]; readonly label: string };
  /** Undefined if the content contains the heading. */
  readonly title?: string;
  /** The heading for an error reply, if the content contains the heading. */
  readonly missing?: (error: ApiError) => ComponentChildren;
}

/** The frame of a detail screen: the breadcrumbs, the heading, and the reply. */
export function ScreenFrame<T>({ back, title, missing, ...content }: ScreenProps<T>) {
  const { data, error } = content.reply;
  return (
    <section>
      <Crumbs {...back} />
      {title !== undefined && <ScreenHead title={title} />}
      {error && data === undefined && missing?.(error)}
      <WhenLoaded {...content} />
    </section>
  );
}

export function Crumbs({ to, label }: ScreenProps<unknown>['back']) {
  return (
    <p class="crumbs">
      <Link to={to}>
        <Icon name="back" /> {label}
      </Link>
    </p>
  );
}

interface ScreenHeadProps {
  readonly title: string;
  /** The text of the heading. Default: the title. */
  readonly text?: string;
  /** What follows the heading. */
  readonly children?: ComponentChildren;
  /** The buttons at the other end. */
  readonly actions?: ComponentChildren;
}

/** The first line of a screen. */
export function ScreenHead({ title, text, children, actions }: ScreenHeadProps) {
  return (
    <div class="screen-head">
      <Heading title={title}>{text}</Heading>
      {children}
      {actions && <span class="actions">{actions}</span>}
    </div>
  );
}

interface CardProps {
  readonly title: string;
  /** A few words beside the title. */
  readonly note?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly class?: string;
  /** Absent: the card is one line. */
  readonly children?: ComponentChildren;
}

/** A section of a screen, with a title. */
export function Card({ title, note, actions, children, ...props }: CardProps) {
  const id = useId();
  return (
    <section class={`card ${props.class ?? ''}`} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {note && <span class="muted">{note}</span>}
        {actions && <span class="actions">{actions}</span>}
      </header>
      {children}
    </section>
  );
}
