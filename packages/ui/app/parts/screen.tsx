import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/call.js';
import type { Loaded } from '../api/resource.js';
import { href } from '../router.js';
import { Heading } from './heading.js';
import { Icon } from './icons.js';
import { Fault, Loading } from './states.js';

interface WhenLoadedProps<T> {
  readonly reply: Pick<Loaded<T>, 'data' | 'error'>;
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
      {title !== undefined && (
        <div class="screen-head">
          <Heading title={title} />
        </div>
      )}
      {error && data === undefined && missing?.(error)}
      <WhenLoaded {...content} />
    </section>
  );
}

export function Crumbs({ to, label }: ScreenProps<unknown>['back']) {
  return (
    <p class="crumbs">
      <a href={href(to)}>
        <Icon name="back" /> {label}
      </a>
    </p>
  );
}
