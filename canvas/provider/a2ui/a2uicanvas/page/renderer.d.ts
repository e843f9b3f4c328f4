// Types of renderer.js, as far as the page uses it.

export const CATALOG_ID: string;

export interface DataModel {
  get(path: string): any;
  set(path: string, value: any): DataModel;
}

export interface Surface {
  id: string;
  theme: { agentDisplayName?: string };
  sendDataModel: boolean;
  dataModel: DataModel;
  componentsModel: { entries: Iterable<[string, { type: string; properties: Record<string, any> }]> };
  onError: { subscribe(fn: (error: any) => void): { unsubscribe(): void } };
}

export interface Processor {
  model: { getSurface(id: string): Surface | undefined; surfacesMap: ReadonlyMap<string, Surface>; dispose(): void };
  processMessages(messages: any[]): void;
}

/** The functions that the page provides. mediaURL returns undefined for a medium that may not be loaded. */
export function setUp(page: {
  offer: (url: string) => void;
  mediaURL: (url: unknown, what: string) => string | undefined;
  failed: (surfaceId: string, err: unknown) => void;
}): void;

/** What the module of another catalog builds its components with. */
export const kit: Record<string, any>;

/** A catalog of a program, as its module makes it. */
export interface OwnCatalog {
  id: string;
  components: { name: string; schema: any; tagName: string }[];
  functions?: any[];
}

/** Adds a catalog, before the first surface is drawn. */
export function addCatalog(catalog: OwnCatalog): void;

export function newProcessor(onAction: (action: any) => void): Processor;

export function drawSurface(surface: Surface): HTMLElement;
