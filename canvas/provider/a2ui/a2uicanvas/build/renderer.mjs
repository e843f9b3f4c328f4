// The official A2UI renderer with the four changes that a canvas needs. Function
// openUrl offers the link, because a canvas opens no windows. Image, Video and
// AudioPlayer never load from another origin: a labeled box stands for what is not
// shown. build.mjs bundles this file into ../page/renderer.js; ../page/renderer.d.ts has its types.
import { css, html, nothing } from "lit";
import { ContextProvider } from "@lit/context";
import { z } from "zod";
import {
  A2uiLitElement, AccessibilityAttributesSchema, ActionSchema, Catalog, CheckableSchema, childList, componentId, Context, createFunctionImplementation,
  DynamicBooleanSchema, DynamicNumberSchema, DynamicStringListSchema, DynamicStringSchema, DynamicValueSchema, MessageProcessor,
} from "@a2ui/web_core/v0_9";
import { BasicCatalogA2uiLitElement, A2uiAudioPlayer, A2uiAudioPlayerElement, A2uiImage, A2uiImageElement, A2uiVideo, A2uiVideoElement, OpenUrlApi } from "@a2ui/web_core/v0_9/basic_catalog";
import { basicCatalog } from "@a2ui/lit/v0_9";
import { renderMarkdown } from "@a2ui/markdown-it";

export const CATALOG_ID = basicCatalog.id;

/** What the page decides for all elements; setUp replaces it. */
const page = { offer: () => {}, mediaURL: () => undefined, failed: () => {} };

/** Sets the page's functions, before the first surface is drawn. */
export function setUp(given) {
  Object.assign(page, given);
}

const boxStyles = css`
  .ahp-box {
    box-sizing: border-box; display: grid; gap: 0.125rem; align-content: center; min-height: 4rem; max-width: 100%;
    padding: 0.625rem 0.75rem; overflow-wrap: anywhere; overflow: hidden;
    border: 1px dashed var(--edge); border-radius: var(--a2ui-border-radius);
    color: var(--a2ui-text-caption-color); font-size: var(--a2ui-font-size-s);
  }
  .ahp-box strong { color: var(--a2ui-color-on-surface); font-weight: 600 }
  .ahp-box.icon, .ahp-box.avatar { width: 2.5rem; height: 2.5rem; min-height: 0; padding: 0; justify-items: center; border-radius: 50% }
  .ahp-box.header { min-height: 6rem }
  .ahp-box a { color: inherit }
`;

/** Names where a medium comes from: a host, or what the address is. */
function sourceOf(url) {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.host || (parsed ? parsed.protocol : "no address");
}

/**
 * A medium's element as the renderer has it if its address may be loaded, otherwise a box.
 * Link says whether the box offers the address.
 */
function guarded(Base, what, link) {
  return class extends Base {
    static styles = [Base.styles, boxStyles].flat();

    /** The official controller, with the address that the page allows. */
    get controller() {
      const own = super.controller;
      const url = own?.props && page.mediaURL(own.props.url, what);
      return url === undefined ? own : Object.create(own, { props: { value: { ...own.props, url } } });
    }

    render() {
      const props = super.controller.props;
      if (!props) return nothing;
      const url = String(props.url ?? "");
      return page.mediaURL(url, what) === undefined ? this.#box(props, url) : super.render();
    }

    #box({ description, variant }, url) {
      const words = description || what, from = sourceOf(url);
      if (variant === "icon" || variant === "avatar") {
        return html`<div class="ahp-box ${variant}" role="img" aria-label="${words}: not loaded from ${from}" title="${words}: not loaded from ${from}">${[...words][0]}</div>`;
      }
      const where = link && /^https?:/.test(url) ? html`<a href=${url} rel="noopener noreferrer">${from}</a>` : from;
      return html`<div class="ahp-box ${variant ?? ""}" role=${link ? nothing : "img"} aria-label=${link ? nothing : `${words}: not loaded from ${from}`}>${description ? html`<strong>${description}</strong>` : nothing}<span>${what}, not loaded from ${where}</span></div>`;
    }
  };
}

const media = [
  [A2uiImage, A2uiImageElement, "Picture", false],
  [A2uiVideo, A2uiVideoElement, "Video", true],
  [A2uiAudioPlayer, A2uiAudioPlayerElement, "Audio", true],
].map(([api, Base, what, link]) => {
  const tagName = `ahp-${api.tagName}`;
  customElements.define(tagName, guarded(Base, what, link));
  return { ...api, tagName };
});

const openUrl = createFunctionImplementation(OpenUrlApi, ({ url }) => page.offer(String(url)));

/** The basic catalog with our four changes. */
const catalog = new Catalog(CATALOG_ID,
  [...basicCatalog.components.values()].map((c) => media.find((m) => m.name === c.name) ?? c),
  [...basicCatalog.functions.values()].map((f) => (f.name === openUrl.name ? openUrl : f)),
  basicCatalog.themeSchema);

/** Catalogs that a program added. */
const added = [];
let lastComponent = 0;

/**
 * What the module of another catalog builds its components with. component makes one from
 * its name, its properties (schemas of z and of values) and a function that draws it:
 * draw(props, element) returns a template of html.
 */
export const kit = {
  html, css, nothing, z,
  values: {
    string: DynamicStringSchema, number: DynamicNumberSchema, boolean: DynamicBooleanSchema, strings: DynamicStringListSchema, any: DynamicValueSchema,
    action: ActionSchema, child: componentId, children: childList, checks: CheckableSchema.shape.checks,
  },
  components: [...catalog.components.values()],
  functions: [...catalog.functions.values()],
  defineFunction: createFunctionImplementation,
  component(name, properties, draw, styles = css``) {
    const api = { name, schema: z.object({ accessibility: AccessibilityAttributesSchema.optional(), weight: z.number().optional(), ...properties }) };
    const tagName = `ahp-own-${++lastComponent}`;
    customElements.define(tagName, class extends BasicCatalogA2uiLitElement {
      static styles = styles;
      api = api;
      render() {
        const props = this.controller.props;
        return props ? draw(props, this) : nothing;
      }
    });
    return { ...api, tagName };
  },
};

/** Names the inputs of an element for screen readers: the official labels do not belong to an input. */
function nameInputs(element) {
  const props = element.controller?.props, name = props?.accessibility?.label ?? props?.label;
  if (typeof name !== "string" || !name) return;
  for (const input of element.querySelectorAll("input, textarea, select")) if (!input.labels?.length) input.setAttribute("aria-label", name);
}

/** Adds a catalog, before the first surface is drawn. */
export function addCatalog({ id, components, functions = [] }) {
  added.push(new Catalog(id, components, functions));
}

/** A component that fails to draw fails its surface, not the page. */
const performUpdate = A2uiLitElement.prototype.performUpdate;
A2uiLitElement.prototype.performUpdate = function () {
  try {
    performUpdate.call(this);
    nameInputs(this);
  } catch (err) {
    page.failed(this.context?.dataContext?.surface?.id ?? "", err);
  }
};

/** A processor of messages, which draws nothing itself. */
export const newProcessor = (onAction) => new MessageProcessor([catalog, ...added], onAction);

/** Markdown as HTML without markup of the author's own, and without pictures of other origins. */
async function markdown(text, options) {
  const template = document.createElement("template");
  template.innerHTML = await renderMarkdown(text, options);
  for (const img of template.content.querySelectorAll("img")) {
    const url = img.getAttribute("src") ?? "", allowed = page.mediaURL(url, "Picture");
    if (allowed === undefined) img.replaceWith(`${img.alt || "Picture"} (not loaded from ${sourceOf(url)})`);
    else img.src = allowed;
  }
  return template.innerHTML;
}

/** What the official elements leave to the browser: fonts of buttons, and a visible focus. */
const ownStyles = css`
  button, input, textarea, select { font: inherit }
  button { max-width: 100%; overflow-wrap: anywhere }
  :host([data-wraps]) a2ui-basic-row { flex-wrap: wrap }
  :focus-visible { outline: 2px solid var(--focus) !important; outline-offset: 2px }
`.styleSheet;

/** Draws a surface in an element of its own. */
export function drawSurface(surface) {
  const el = document.createElement("a2ui-surface");
  new ContextProvider(el, { context: Context.markdown, initialValue: markdown });
  el.surface = surface;
  el.updateComplete.then(() => { el.shadowRoot.adoptedStyleSheets = [ownStyles, ...el.shadowRoot.adoptedStyleSheets]; });
  return el;
}
