'use client';
import { OpenFeatureAPI, OpenFeatureProvider, type Provider } from '@openfeature/react-sdk';
import { type ReactNode, useState } from 'react';
import type { PageFlag } from '../lib/flags';

interface Props {
  readonly flags: readonly PageFlag[];
  readonly children: ReactNode;
}

/** Gives the hooks of OpenFeature the flags that the server has evaluated, in the HTML as after the hydration. */
export function PageFlags({ flags, children }: Props) {
  const [client] = useState(() => {
    // An API for each rendered page: the global one would mix the users of a server. Only TypeScript hides its constructor.
    const api: OpenFeatureAPI = Reflect.construct(OpenFeatureAPI, []);
    api.setProvider(createProvider(flags));
    return api.getClient();
  });
  return <OpenFeatureProvider client={client}>{children}</OpenFeatureProvider>;
}

/** Without `initialize`, a provider is ready at once: the first rendering has the values. */
function createProvider(flags: readonly PageFlag[]): Provider {
  const byName = new Map(flags.map((flag) => [flag.name, flag]));
  function readPayload<Value>(name: string, fallback: Value, parse: (payload: string) => Value) {
    const payload = byName.get(name)?.payload;
    return { value: payload === undefined ? fallback : parse(payload) };
  }
  return {
    metadata: { name: 'page-flags' },
    runsOn: 'client',
    resolveBooleanEvaluation: (name, fallback) => ({ value: byName.get(name)?.enabled ?? fallback }),
    resolveStringEvaluation: (name, fallback) => readPayload(name, fallback, String),
    resolveNumberEvaluation: (name, fallback) => readPayload(name, fallback, Number),
    resolveObjectEvaluation: (name, fallback) => readPayload(name, fallback, JSON.parse),
  };
}
