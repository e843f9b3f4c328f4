// Command survey shows web apps and extensions in a browser, directly and as canvases, and
// says where they differ.
//
//	go run ./testcases/survey                          the apps of corpus, fetched from npm
//	go run ./testcases/survey --only vite,next         some of them
//	go run ./testcases/survey --apps FOLDER            those of another folder
//	go run ./testcases/survey --extensions FOLDER      a folder with folders of extensions
//	go run ./testcases/survey --networks               hosts, relay and people in three networks
//
// It needs Chromium, and node for extensions and the apps of corpus. Fetched apps stay in
// --cache; nothing is written into the folders that it reads. With --networks, which takes
// Linux, root and iproute2, the relay is in one network namespace and the browser of the
// people who come through it in another, from which only the relay can be reached.
//
// # What is compared
//
// Each app is shown five times, each time by a new process with an empty data folder
// and in a new browser context: directly, directly again, in the host's page over
// loopback through the channel and at the host's listener (serve --content listener), and in
// the page of a relay. Each time the survey plays the steps of the app, then
// presses its controls (buttons, links within the app, inputs) as a person does, and reloads.
// It notes
//
//   - whether the app appeared, and the words that it showed;
//   - which step failed;
//   - for each control, whether something changed after the press;
//   - errors of the console and the network;
//   - how many WebSockets the app accepted. A proxy in front of the app counts them, unless its
//     survey.json says plain: such an app names the port of its server;
//   - dialogs, and whether localStorage outlasts a reload.
//
// What differs between the two direct visits varies anyway, and does not count. An app
// opens if it shows what it shows directly; it works if nothing else differs, but for what its
// survey.json lists as known, with a reason. Links to another origin or a new tab are not
// pressed.
//
// # Apps
//
// An app is a folder with a survey.json (type app), and the files that the app consists of,
// such as a package.json: they are copied into the cache.
//
// # Extensions
//
// An extension is a folder that serve --extension takes. Directly, the survey itself is the
// extension's parent process and opens the address that it gets. An extension has no steps.
package main
