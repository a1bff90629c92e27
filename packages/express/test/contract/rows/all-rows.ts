import type { Row } from '../row.js';
import { archiveRows } from './archive.js';
import { clientRows } from './client.js';
import { dependencyRows } from './dependencies.js';
import { eventRows } from './events.js';
import { flagChangeRows } from './flag-changes.js';
import { flagRows } from './flags.js';
import { memberRows } from './members.js';
import { metricsRows } from './metrics.js';
import { projectRows } from './projects.js';
import { segmentRows } from './segments.js';
import { strategyRows } from './strategies.js';
import { switchingRows } from './switching.js';
import { tokenRows } from './tokens.js';
import { variantRows } from './variants.js';

/** The table: what is written down row by row. */
export const WRITTEN_ROWS: readonly Row[] = [
  ...projectRows,
  ...flagRows,
  ...flagChangeRows,
  ...strategyRows,
  ...switchingRows,
  ...variantRows,
  ...dependencyRows,
  ...segmentRows,
  ...memberRows,
  ...metricsRows,
  ...clientRows,
  ...archiveRows,
  ...tokenRows,
  ...eventRows,
];
