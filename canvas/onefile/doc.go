// Package onefile makes one HTML text of a canvas's document and of everything that the
// document needs: scripts, modules, style sheets, images, fonts. A renderer whose policy
// allows inline content only, such as a chat, can then show it.
//
// # What is linked
//
// All module elements become one inline module, linked by esbuild, so that they share the
// modules which they import. Classic scripts and style sheets become inline elements, and
// what they and the document refer to becomes data: URLs. Style sheets, images and classic
// scripts that are absent are left out, as a browser does without them; a module that imports
// what is absent fails the document, because it would not run.
//
// Frames, preloads, base elements, refreshes and the document's policy are dropped: they
// would refer to the place of the renderer.
//
// # Limits
//
// The result has at most [MaxBytes], of at most [MaxFiles] files, made in [MaxTime]. Errors of
// type [*Error] are texts for people.
//
// # Hostile content
//
// The linker sees files only through the caller's [Read]; it reaches neither the file system
// nor a network, and plugins, configuration files and loaders of the content do not exist.
// No inlined text can end its element.
//
// The package imports canvas, ahp, evanw/esbuild and golang.org/x/net/html.
package onefile
