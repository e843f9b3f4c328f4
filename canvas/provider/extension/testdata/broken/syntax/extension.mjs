const canvases = [;
