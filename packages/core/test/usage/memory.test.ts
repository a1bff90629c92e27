import { usageConformance } from '@flags/core/testing';
import { memoryUsage } from '../../src/storage/memory/memory-usage.js';

usageConformance('memory', () => ({ usage: memoryUsage() }));
