export default { title: "Button" };
export const Plain = { render: () => "<button>press me</button>" };
