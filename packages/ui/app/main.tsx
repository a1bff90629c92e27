import './styles/main.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { forgetReplies, invalidate, invalidateAfterChange } from './api/resource.js';
import { followChanges } from './api/stream.js';
import { App } from './app.js';
import { startTheme } from './layout/layout.js';
import { startRouter } from './router.js';
import { startKeys } from './state/keys.js';
import { startSegmentNames } from './state/segments.js';
import { isLetIn, startSession } from './state/session.js';

startTheme();
startRouter();
startSession();
startKeys();
startSegmentNames();

effect(() => {
  if (isLetIn.value) return followChanges((flags) => void invalidateAfterChange(flags));
  forgetReplies();
  return undefined;
});

const MINUTE = 60_000;
setInterval(() => {
  if (!document.hidden) invalidate('listUsage', 'listFlagUsage', 'listConsumers');
}, MINUTE);

const place = document.getElementById('app');
if (place) {
  place.replaceChildren();
  render(<App />, place);
}
