document.body.append("one");
