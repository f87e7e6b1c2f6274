"""Who may decide what, and whether main is what was decided. Pure: values in, values out."""
