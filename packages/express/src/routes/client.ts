import type { ReportOrigin } from '@flags/core';
import { type Route, route } from '../route.js';
import { unchecked } from '../unchecked.js';

export const clientRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/client/register',
    action: 'registerApplication',
    summary: 'Tell that a client has started',
    tag: 'Client',
    access: 'client',
    body: { required: true, schema: ({ registration }) => registration, checkedBy: 'core' },
    reply: { status: 202 },
    errors: ['invalid_input'],
    async handle({ flags, body, clientIp }) {
      await flags.registerApplication(unchecked(body), originOf(clientIp));
      return {};
    },
  }),
  route({
    method: 'POST',
    path: '/api/client/metrics',
    action: 'reportMetrics',
    summary: 'Report how often flags were evaluated',
    tag: 'Client',
    access: 'client',
    body: { required: true, schema: ({ metricsReport }) => metricsReport, checkedBy: 'core' },
    reply: { status: 202 },
    errors: ['invalid_input'],
    async handle({ flags, body, clientIp }) {
      await flags.reportMetrics(unchecked(body), originOf(clientIp));
      return {};
    },
  }),
];

function originOf(clientIp: string | undefined): ReportOrigin {
  return clientIp === undefined ? {} : { clientIp };
}
