"""PyPTO IR: types, expressions, statements, walking, printing, structural equality."""
