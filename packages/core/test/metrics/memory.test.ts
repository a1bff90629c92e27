import { metricsConformance } from '@flags/core/testing';
import { memoryMetrics } from '../../src/storage/memory/metrics.js';

metricsConformance('memory', () => ({ metrics: memoryMetrics() }));
